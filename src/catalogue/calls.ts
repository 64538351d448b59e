import { plainText } from './html.js';
import type { Values } from './marks.js';

/** `clew('track', 'signup', …)`. The fourth group is a name in quotes. */
const CALL = /\bclew\s*(?:\?\.)?\(\s*(["'`])track\1\s*,\s*(?:(["'`])((?:(?!\2).)*)\2\s*[,)])?/g;
/** Comments that begin a line: others may be in a text, such as an address. */
const COMMENT = /^\s*(?:\/\/.*$|\/\*[\s\S]*?\*\/)/gm;
/** The value of Vue's `v-clew`: a name, or an object with one. */
const BINDING = /^\s*(?:\{(?:[^{}]|\{[^{}]*\})*?\bevent\s*:\s*)?(["'`])((?:(?!\1).)*)\1\s*(?:[,}]|$)/;

/** A name as it is written, or `undefined` if a template makes a part of it. */
const nameIn = (written: string | undefined): Values => {
  const name = plainText(written ?? '{');
  return name === undefined ? undefined : [name];
};

/** The events that a script, or an attribute with one, tracks by the function of the script tag. */
export const callsIn = (script: string): Values[] =>
  [...script.replace(COMMENT, '').matchAll(CALL)].map(([, , , name]) => nameIn(name));

/** The event of `v-clew`. */
export const boundIn = (value: string): Values => nameIn(BINDING.exec(value)?.[2]);
