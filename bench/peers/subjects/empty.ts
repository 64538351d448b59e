/** An empty script. Its start-up cost is subtracted from that of all others. */
window.track = () => {};
