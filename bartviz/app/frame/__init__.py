"""The frame of every page: navigation, sidebar, level, language, status, the lessons' strip."""
