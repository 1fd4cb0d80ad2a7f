// First of all in a page: says that the file was cut or changed on its way. A script of its own, which needs little.

{
  const { dataset } = document.currentScript;

  const tell = () => {
    const root = document.documentElement,
      said = document.createElement("p");
    if (document.querySelector(".amiss")) return;
    said.className = "amiss";
    said.setAttribute("role", "alert");
    said.textContent = document.getElementById("end") ? dataset.changed : dataset.cut;
    document.body.prepend(said);
    if (!root.dataset.ready) root.dataset.amiss = ""; // nothing else is there yet
  };

  document.addEventListener("DOMContentLoaded", () => document.getElementById("end") ?? tell());
  addEventListener("unhandledrejection", () => document.documentElement.dataset.ready ?? tell());
}
