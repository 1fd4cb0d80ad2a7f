"""The web app. ``streamlit run app.py`` and ``bartviz app`` import it to serve ``app``; a test runs it as a visitor."""

from streamlit.starlette import App

from bartviz.app.frame import monitoring, server

if __name__ == "__main__":
    from bartviz import visit

    visit.draw()
else:
    app = App(
        server.SCRIPT,
        lifespan=server.lifespan,
        routes=monitoring.ROUTES,
        middleware=server.MIDDLEWARE,
        on_script_error=server.failed,
    )
