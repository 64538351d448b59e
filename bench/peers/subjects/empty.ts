/** Nothing: what a script costs that does nothing is taken off all others. */
window.track = () => {};
