/** A line to the other tabs of this origin. Closed while the page is away, so as not to cost it the back/forward cache. */
export interface Channel<Message> {
  post(message: Message): void;
  close(): void;
  reopen(): void;
}

/** Without BroadcastChannel, or where it is refused, nobody is told and nobody hears. */
export const createChannel = <Message>(name: string, hear: (message: Message) => void): Channel<Message> => {
  let channel: BroadcastChannel | undefined;
  const reopen = () => {
    try {
      channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }) => hear(data);
    } catch {}
  };
  reopen();
  return {
    post: (message) => channel?.postMessage(message),
    close: () => {
      channel?.close();
      channel = undefined;
    },
    reopen,
  };
};
