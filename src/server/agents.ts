import type { BotOptions, EnrichOptions } from '../relay.js';
import type { Settings } from './environment.js';

const missing = (variable: string, name: string) => () => {
  throw new Error(`${variable}: expected the package ${name} beside clew: npm install ${name}`);
};

/** Characters of a field: for an unknown client, bowser returns what the client has written. Empty texts are left out. */
const MAX_FIELD = 50;
const field = (text: string | undefined): string | undefined => text?.slice(0, MAX_FIELD) || undefined;

/** Browser, operating system and kind of device, by the package `bowser`. */
const loadParser = async (): Promise<NonNullable<EnrichOptions['userAgent']>> => {
  const { default: bowser } = await import('bowser').catch(missing('PARSE_USER_AGENT', 'bowser'));
  return (userAgent) => {
    const { browser, os, platform } = bowser.parse(userAgent);
    return {
      browser: field(browser.name),
      browser_version: field(browser.version),
      os: field(os.name),
      os_version: field(os.version),
      device: field(platform.type),
    };
  };
};

/** The options of the relay that read the header `User-Agent`. */
export const agentOptions = async ({
  isParsed,
  bots,
}: Settings['agents']): Promise<{ userAgent?: NonNullable<EnrichOptions['userAgent']>; bots?: BotOptions }> => {
  const userAgent = isParsed && (await loadParser());
  const known = bots !== 'forward' && (await import('isbot').catch(missing('BOTS', 'isbot')));
  return {
    ...(userAgent && { userAgent }),
    ...(known && { bots: { isBot: known.isbot, ...(bots === 'mark' && { mark: 'is_bot' }) } }),
  };
};
