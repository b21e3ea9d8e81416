/**
 * What scripting adds: filtering, opening linked parts, copying. Everything is readable without it. ES5 syntax, because it is
 * shipped as written here.
 */
export const SCRIPT = `"use strict";
(function () {
  var make = function (name, text) { var node = document.createElement(name); node.textContent = text || ""; return node; };

  // A link to something inside a closed part opens it first.
  var reveal = function () {
    var id = decodeURIComponent(location.hash.slice(1));
    var target = id && document.getElementById(id);
    if (!target) return;
    for (var node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Paper cannot be clicked: what belongs on it is opened.
  var opened = [];
  addEventListener("beforeprint", function () {
    opened = Array.prototype.filter.call(document.querySelectorAll("details.on-paper:not([open])"), function (part) { return (part.open = true); });
  });
  addEventListener("afterprint", function () { opened.forEach(function (part) { part.open = false; }); });

  // Copying works where the page is allowed to; where it is not, the text can still be selected.
  if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach(function (block) {
    var text = block.textContent;
    var button = make("button", "Copy");
    button.type = "button";
    button.className = "copy";
    button.setAttribute("aria-label", "Copy: " + (block.getAttribute("aria-label") || "command"));
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(text).then(function () { button.textContent = "Copied"; }, function () { button.textContent = "Not allowed"; });
    });
    block.prepend(button);
  });

  // Filter of the check list.
  var list = document.getElementById("check-list");
  if (list) {
    var rows = Array.prototype.map.call(list.querySelectorAll("tbody tr"), function (row) {
      return { row: row, text: row.textContent.toLowerCase(), status: row.querySelector("td .mark").lastChild.textContent };
    });
    var tools = make("div");
    tools.className = "tools";
    var label = make("label", "Text ");
    var input = make("input");
    input.type = "search";
    label.append(input);
    var choice = make("label", "Status ");
    var select = make("select");
    select.append(new Option("any", ""));
    rows.map(function (entry) { return entry.status; }).filter(function (status, index, all) { return all.indexOf(status) === index; })
      .forEach(function (status) { select.append(new Option(status, status)); });
    choice.append(select);
    var note = make("span");
    note.className = "note";
    note.setAttribute("role", "status");
    tools.append(label, choice, note);
    list.before(tools);
    var filter = function () {
      var words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
      var active = words.length > 0 || select.value !== "";
      var shown = 0;
      rows.forEach(function (entry) {
        var fits = (select.value === "" || entry.status === select.value) && words.every(function (word) { return entry.text.indexOf(word) >= 0; });
        entry.row.hidden = !fits;
        if (fits) shown++;
      });
      list.open = active;
      list.querySelectorAll("details").forEach(function (part) {
        var any = part.querySelector("tbody tr:not([hidden])");
        part.hidden = !any;
        part.open = active && !!any;
      });
      note.textContent = active ? shown + " of " + rows.length + " shown" : "";
    };
    input.addEventListener("input", filter);
    select.addEventListener("change", filter);
  }
})();
`;
