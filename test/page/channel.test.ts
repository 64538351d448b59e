// @module-tag promise
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createChannel, type Message } from '../../src/page/channel.ts';
import { connectTabs } from '../support/tabs.ts';

beforeEach(() => void connectTabs());
afterEach(() => vi.unstubAllGlobals());

/** A tab, and the messages that it has received. */
const openTab = () => {
  const received: Message[] = [];
  return { received, channel: createChannel('clew /clew', (message) => received.push(message)) };
};
/** Lets all messages arrive that were posted. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('a channel that is closed keeps no line open, and receives nothing until the page opens another', async () => {
  const [tab, other] = [openTab(), openTab()];
  const closed = vi.spyOn(BroadcastChannel.prototype, 'close');
  tab.channel.close();
  expect([tab.channel.isOpen(), closed.mock.calls.length]).toEqual([false, 1]);
  other.channel.post(1);
  await settle();
  tab.channel.reopen();
  other.channel.post(2);
  await settle();
  expect([tab.channel.isOpen(), tab.received]).toEqual([true, [2]]);
});
