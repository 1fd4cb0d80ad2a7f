"""Many visitors on one machine, without Streamlit: queues, caches, budgets. Imports run, models and below."""
