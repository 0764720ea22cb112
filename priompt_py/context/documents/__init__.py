"""Files as text: plain text, Markdown and source code by ourselves, PDF, DOCX, XLSX and HTML with the extra ``documents``.

Whatever has to be taken apart is read in a process of its own, which has a limit of time and of memory, writes no file
and opens no connection: ``parser`` and ``process`` are on our side of it, ``child`` is its main program, ``readers``,
``archive`` and ``encodings`` work there. What runs in the child imports nothing of ours but its neighbours here.
"""
