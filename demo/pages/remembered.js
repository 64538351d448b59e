// @ts-check

const NAME = 'outage-waiting';

/** The events that waited when this page was reloaded. @type {string[]} */
export const remembered = JSON.parse(sessionStorage.getItem(NAME) ?? '[]');

/** Keeps these uuids for the next reload. @param {string[]} uuids */
export const remember = (uuids) => sessionStorage.setItem(NAME, JSON.stringify(uuids));
