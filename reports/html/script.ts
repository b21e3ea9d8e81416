/**
 * What scripting adds: filtering, opening linked parts, copying, reading the values of a drawing. Everything is readable without
 * it. ES5 syntax, because it is shipped as written here.
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

  // A drawing over time is read at the pointer, or with the arrow keys. The values are those of its table.
  document.querySelectorAll("details.values").forEach(function (values) {
    var drawing = values.previousElementSibling;
    var svg = drawing.querySelector("svg");
    var cursor = svg.querySelector(".cursor");
    var heads = Array.prototype.slice.call(values.querySelectorAll("thead th"), 1).map(function (head) {
      var panel = head.querySelector("span");
      return { text: head.textContent, panel: panel ? panel.textContent : "", unit: panel && panel.dataset.unit ? " " + panel.dataset.unit : "" };
    });
    // A panel is named once before its values, and its unit is after the last of them.
    var columns = heads.map(function (head, index) {
      var isAlike = function (other) { return !!other && other.panel === head.panel; };
      return {
        before: isAlike(heads[index - 1]) ? ", " + head.text.slice(head.panel.length).trim() : (index > 0 ? "; " : "") + head.text,
        after: isAlike(heads[index + 1]) ? "" : head.unit
      };
    });
    var left = Number(cursor.dataset.left);
    var perS = (cursor.dataset.right - left) / cursor.dataset.endS;
    var points = Array.prototype.map.call(values.querySelectorAll("tbody tr"), function (row) {
      var atS = Number(row.cells[0].textContent.replace(/,/g, ""));
      return { row: row, x: left + perS * (atS + Number(cursor.dataset.middleS)) };
    });
    var reading = make("p");
    reading.className = "reading";
    reading.setAttribute("aria-live", "polite");
    values.before(reading);
    drawing.setAttribute("aria-label", "Chart; use the arrow keys to read its values");
    var at = -1;
    var textOf = function (row) {
      return row.cells[0].textContent + " s: " + columns.map(function (column, index) {
        return column.before + " " + row.cells[index + 1].textContent + column.after;
      }).join("");
    };
    var show = function (index) {
      if (index === at) return;
      at = index;
      var point = points[at];
      cursor.toggleAttribute("hidden", !point);
      reading.textContent = point ? textOf(point.row) : "";
      if (!point) return;
      cursor.setAttribute("x1", point.x);
      cursor.setAttribute("x2", point.x);
    };
    var scaleOf = function () { return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; };
    var follow = function (event) {
      var x = (event.clientX - svg.getBoundingClientRect().left) / scaleOf();
      show(points.reduce(function (best, one, index) { return Math.abs(one.x - x) < Math.abs(points[best].x - x) ? index : best; }, 0));
    };
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    // Lifting a finger fires pointerleave, but the values must stay readable.
    svg.addEventListener("pointerleave", function (event) { if (event.pointerType !== "touch") show(-1); });
    drawing.addEventListener("keydown", function (event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      var last = points.length - 1;
      var steps = { ArrowLeft: at < 0 ? last : Math.max(0, at - 1), ArrowRight: Math.min(last, at + 1), Home: 0, End: last, Escape: -1 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      show(steps[event.key]);
      if (at >= 0) drawing.scrollLeft = points[at].x * scaleOf() - drawing.clientWidth / 2;
    });
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
