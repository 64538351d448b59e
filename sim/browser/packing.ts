import { gzipSync } from 'node:zlib';
import type { World } from '../world/world.ts';
import type { Page } from './page.ts';

/** Longest time (ms) that the browser takes to compress a body in a task of its own. */
const MOST_PACKING = 10;

/**
 * `Response` of the page, which clew uses for gzip: `new Response(new Response(text).body.pipeThrough(new CompressionStream('gzip')))`.
 *
 * @param isSlow whether compression takes a task of its own. The page may leave or be frozen meanwhile
 */
export const createPacking = (world: World, page: Page, isSlow = false) => {
  const random = world.random.fork(`gzip ${page.name}`);
  return class {
    readonly body: { pipeThrough(stream: unknown): Uint8Array };
    readonly arrayBuffer: () => Promise<ArrayBuffer>;

    constructor(content: string | Uint8Array) {
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
      const buffer = () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
      const later = () =>
        new Promise<ArrayBuffer>((resolve) =>
          world.scheduler.after(random.between(0, MOST_PACKING), 'gzip', () => resolve(buffer()), { owner: page }),
        );
      this.body = { pipeThrough: () => gzipSync(bytes) };
      this.arrayBuffer = isSlow ? later : async () => buffer();
    }
  };
};
