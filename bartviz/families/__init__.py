"""The facts about each architecture, without torch. Imports language and errors.

``registry`` finds the families in this folder; CONTRIBUTING.md says how to add one.
"""
