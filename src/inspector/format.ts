import { parseJson } from '../wire.js';

const two = (value: number): string => `${value}`.padStart(2, '0');

/** `14:03:22`, in the reader's own time zone. */
export const clock = (at: number): string => {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
};

/** `14:03:22.118` */
export const instant = (at: number): string => `${clock(at)}.${`${at % 1000}`.padStart(3, '0')}`;

/** A duration such as `4 ms`, `3.0 s` or `2 min 5 s`. If the clock jumped back, the duration is 0. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.max(Math.round(ms), 0)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** `42 s`: what is left until then, in whole seconds. */
export const countdown = (until: number, now: number): string => {
  const seconds = Math.max(Math.ceil((until - now) / 1000), 0);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** `812 B`, `3.2 kB` */
export const bytes = (size: number): string => (size < 1000 ? `${size} B` : `${(size / 1000).toFixed(1)} kB`);

/** `12,345` */
export const number = (value: number): string => value.toLocaleString('en');

/** `1 event`, `2 events` */
export const plural = (count: number, noun: string): string => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;

/** The beginning of an id, which is enough to distinguish events. */
export const short = (id: string): string => id.slice(0, 8);

/** The part of a message that people need. JSON of a relay, and JSON of the service in it, have it as `error`. */
export const reasonIn = (message: string): string => {
  const text = message.replace(/^\d{3} /, '');
  const { error, rejected } = parseJson<{ error?: unknown; rejected?: { reason?: unknown }[] }>(text) ?? {};
  if (typeof error === 'string') return reasonIn(error);
  const [first] = Array.isArray(rejected) ? rejected : [];
  return typeof first?.reason === 'string' ? first.reason : text;
};
