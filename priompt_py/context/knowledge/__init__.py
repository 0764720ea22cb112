"""A knowledge base: documents, their chunks and vectors in a database, to be searched.

``store`` is what a database has to do, ``sqlite_store`` does it in a file. ``ingest`` brings documents in, ``search``
finds chunks, both written once for every store; ``base`` is the face, ``tools`` what a model may call.
"""
