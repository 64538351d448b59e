/** Reads a stream of server-sent events, message by message. */
export async function listen(url: string) {
  const leave = new AbortController();
  const response = await fetch(`${url}/inspect/stream`, { signal: leave.signal });
  const messages = (async function* () {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop() ?? '';
      yield* parts;
    }
  })();
  return {
    response,
    next: async () => (await messages.next()).value,
    counts: async () => JSON.parse((await messages.next()).value?.split('\ndata: ')[1] ?? 'null'),
    leave: () => leave.abort(),
  };
}
