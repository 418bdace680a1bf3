#pragma once

namespace muster::tracking {

/// Of the report: columns as wide as a phone, both colour schemes, light on paper.
constexpr const char* page_style = R"css(
:root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --text: #1c2430; --soft: #5d6878;
  --grid: #e3e7ec; --line: #2060d0; --bad: #c02020; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --card: #1b212a; --text: #e4e9f0;
  --soft: #98a4b4; --grid: #303844; --line: #6aa5ff; --bad: #ff7a6e; } }
@media print { :root { color-scheme: light; --back: #fff; --card: #fff; --text: #000; --soft: #444;
  --grid: #ccc; --line: #2060d0; --bad: #c02020; } .card { border: 1px solid #ccc; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
main { max-width: 90rem; margin: auto; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .2rem 0 .8rem; color: var(--soft); }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); }
.card { background: var(--card); border-radius: .5rem; padding: .8rem 1rem; break-inside: avoid; }
.card p { margin: .1rem 0 .4rem; font-variant-numeric: tabular-nums; }
.bad { color: var(--bad); }
svg { display: block; width: 100%; height: auto; touch-action: pan-y; }
svg text { font: 14px system-ui, sans-serif; fill: var(--soft); }
.grid { stroke: var(--grid); }
.axis { stroke: var(--soft); }
.gap { stroke: var(--bad); stroke-width: 2; }
.area { fill: var(--line); fill-opacity: .2; }
.mean { fill: none; stroke: var(--line); stroke-width: 1.8; stroke-linejoin: round; }
.point { fill: var(--line); }
.pointer { stroke: var(--soft); stroke-dasharray: 3 3; }
details { margin: 1rem 0; background: var(--card); border-radius: .5rem; padding: .6rem 1rem; }
summary { font-weight: 600; cursor: pointer; }
table { border-collapse: collapse; margin-top: .5rem; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0;
  border-top: 1px solid var(--grid); overflow-wrap: anywhere; white-space: pre-wrap; }
)css";

/// Shows the values nearest to the pointer, or the finger, in the line above a picture.
constexpr const char* page_script = R"js(
const report = JSON.parse(document.getElementById('muster-report').textContent);
const short = v => Math.abs(v) >= 1e4 || (v && Math.abs(v) < 1e-3) ? v.toExponential(3)
  : String(+v.toPrecision(4));
for (const card of document.querySelectorAll('.card')) {
  const series = report.series[card.dataset.series], svg = card.querySelector('svg');
  const note = card.querySelector('p'), usual = note.innerHTML, buckets = series.buckets;
  const first = buckets[0][0], last = Math.max(buckets[buckets.length - 1][1], first + 1);
  const left = +svg.dataset.left, right = +svg.dataset.right, high = +svg.dataset.bottom;
  const pointer = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  pointer.setAttribute('class', 'pointer');
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    const step = first + (x - left) / (right - left) * (last - first);
    const middle = b => (b[0] + b[1]) / 2;
    const near = buckets.reduce((a, b) =>
      Math.abs(middle(b) - step) < Math.abs(middle(a) - step) ? b : a);
    const at = left + (middle(near) - first) / (last - first) * (right - left);
    for (const [k, v] of Object.entries({x1: at, x2: at, y1: 10, y2: high})) pointer.setAttribute(k, v);
    svg.append(pointer);
    note.textContent = (near[0] === near[1] ? 'step ' + near[0] : 'steps ' + near[0] + ' to ' + near[1])
      + ': ' + (near[2] ? short(near[4]) : 'not finite')
      + (near[5] < near[6] ? ' (' + short(near[5]) + ' to ' + short(near[6]) + ')' : '');
  });
  svg.addEventListener('pointerleave', () => { note.innerHTML = usual; pointer.remove(); });
}
)js";

}  // namespace muster::tracking
