import { gunzipSync } from 'node:zlib';

/** `Headers` of a request or an answer. */
export const createHeaders = (given: Readonly<Record<string, string>> = {}) => {
  const values = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    get: (name: string) => values.get(name.toLowerCase()) ?? null,
    set: (name: string, value: string) => void values.set(name.toLowerCase(), String(value)),
    has: (name: string) => values.has(name.toLowerCase()),
  };
};

/** `Response` of the relay: text or nothing. */
export class SimulatedResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: ReturnType<typeof createHeaders>;
  readonly type = 'basic';
  readonly #text: string;
  constructor(
    body: string | null = null,
    { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    this.#text = body ?? '';
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.headers = createHeaders(headers);
  }
  static json(body: unknown, { status = 200 }: { status?: number } = {}) {
    return new SimulatedResponse(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
  }
  get body() {
    return this.#text ? [new TextEncoder().encode(this.#text)] : null;
  }
  text = async () => this.#text;
  json = async () => JSON.parse(this.#text) as unknown;
}

/** `DecompressionStream` of the relay. The stream inflates all chunks when the writer closes. */
export class InflatingStream {
  readonly #chunks: Uint8Array[] = [];
  readonly #done: Promise<Uint8Array>;
  #resolve: (bytes: Uint8Array) => void = () => {};
  #reject: (cause: unknown) => void = () => {};
  constructor() {
    this.#done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }
  readonly writable = {
    getWriter: () => ({
      write: async (chunk: Uint8Array) => void this.#chunks.push(chunk),
      close: async () => {
        try {
          this.#resolve(gunzipSync(Buffer.concat(this.#chunks)));
        } catch (error) {
          this.#reject(error);
        }
      },
      abort: async (cause: unknown) => this.#reject(cause),
    }),
  };
  readonly readable = this.#iterate();
  async *#iterate() {
    yield await this.#done;
  }
}
