import { withoutKey } from '../service/address.js';

/** One line of a relay's log. A line has no key, no payload, no id and no address of a visitor. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  /**
   * `error`: 5xx, and failures of the service or a store. `warn`: other refusals. The log has at most ten lines a second with the same
   * message. `info`: the rest, and 429.
   */
  readonly level: 'info' | 'warn' | 'error';
  /** `request` for an answered request, or why something failed. */
  readonly message: string;
  /** The status of the answer to the page, or of the service's answer. */
  readonly status?: number | undefined;
  /** The path of the request, without its query. */
  readonly path?: string | undefined;
  /** How long the answer took, in ms. */
  readonly ms?: number | undefined;
}

/** Receives each line. The relay ignores exceptions of the logger. */
export type Logger = (line: LogLine) => void;

/** Most characters of a path. The rest is of no use in a log. */
const MAX_PATH = 200;

/** Lines of one level and message in a second. Clients cause them, and must not be able to fill a log, or to hide another fault. */
const MOST_LINES = 10;
/** Messages in a second that are counted apart: the text of an error may be another one each time. */
const MOST_MESSAGES = 20;

const levelOf = (status: number): LogLine['level'] =>
  status < 400 || status === 429 ? 'info' : status < 500 ? 'warn' : 'error';

/** The text and the status of whatever a port has thrown. An error may have a getter that throws, or no text at all. */
const read = (error: unknown): { text: string; status?: number } => {
  try {
    const { status } = (error ?? {}) as { status?: unknown };
    const text = String(error instanceof Error ? error.message : error);
    return typeof status === 'number' ? { text, status } : { text };
  } catch {
    return { text: 'an error without a text' };
  }
};

/** Without a logger, no line is made: a date for each request would cost time. */
export const createLog = (logger: Logger | undefined, apiKey: string) => {
  const time = () => new Date().toISOString();
  let second = 0;
  let lines = new Map<string, number>();
  const limited = (level: LogLine['level'], message: string): LogLine['level'] => {
    const now = Math.trunc(Date.now() / 1000);
    if (now !== second) lines = new Map();
    second = now;
    const known = `${level} ${message}`;
    const counted = lines.has(known) || lines.size < MOST_MESSAGES ? known : 'others';
    const count = (lines.get(counted) ?? 0) + 1;
    lines.set(counted, count);
    return count > MOST_LINES ? 'info' : level;
  };
  return {
    request: (status: number, path: string, ms: number) => {
      if (!logger) return;
      const level = limited(levelOf(status), 'request');
      logger({ time: time(), level, message: 'request', status, path: path.slice(0, MAX_PATH), ms });
    },
    warn: (message: string) => logger?.({ time: time(), level: limited('warn', message), message }),
    error: (error: unknown) => {
      if (!logger) return;
      const { text, ...status } = read(error);
      const message = withoutKey(text, apiKey);
      logger({ time: time(), level: limited('error', message), message, ...status });
    },
  };
};
