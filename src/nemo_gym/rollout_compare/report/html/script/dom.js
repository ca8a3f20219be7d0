// Elements are made here and nowhere else. What inputs say becomes text nodes; nothing is ever parsed as markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, settings, children) {
  for (const [name, value] of Object.entries(settings || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

function h(tag, settings, ...children) {
  return fill(document.createElement(tag), settings, children);
}

function svg(tag, settings, ...children) {
  return fill(document.createElementNS(SVG, tag), settings, children);
}

function byId(id) {
  return document.getElementById(id);
}
