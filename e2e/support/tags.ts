/**
 * Left out unless `TEST_ALL` is set: what takes long, and what tests in Node, walks or another test in a browser show, too.
 * In every run, each promise and each feature has a test in a browser.
 */
export const LONG = '@long';

/** The outcome depends on the engine: Firefox and WebKit run these tests, and the others with `TEST_ALL` only. */
export const ENGINES = '@engines';

/**
 * A failure means that an event was lost, stored twice or given to another person. A failure may also mean that data were stored
 * or sent before consent or after a refusal. Such a failure counts even if the test passes when it is repeated.
 */
export const PROMISE = '@promise';

export const isAll = Boolean(process.env.TEST_ALL);

/** The first of these cases, and the others with `TEST_ALL` only. */
export const firstOf = <Case>(cases: readonly Case[]): readonly Case[] => (isAll ? cases : cases.slice(0, 1));

/** Selects the tests of a configuration or a project in Chromium. */
export const selection = isAll ? {} : { grepInvert: new RegExp(LONG) };

/** Selects the tests of a project in Firefox or WebKit. For a few tests, one browser and one demo start sooner than three. */
export const engineSelection = isAll ? {} : { grep: new RegExp(ENGINES), grepInvert: new RegExp(LONG), workers: 1 };
