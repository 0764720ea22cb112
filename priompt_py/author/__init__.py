"""What prompt writers type: tags, messages, components, tools and the JSON form."""
