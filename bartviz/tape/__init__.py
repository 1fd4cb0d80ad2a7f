"""The registered attention function that writes down what it is given, and what is made of that. Imports record."""
