import type { BotOptions, EnrichOptions } from '../relay.js';
import type { Settings } from './environment.js';

const missing = (variable: string, name: string) => () => {
  throw new Error(`${variable}: expected the package ${name} beside clew: npm install ${name}`);
};

/** Browser, operating system and kind of device, by the package `bowser`. */
const loadParser = async (): Promise<NonNullable<EnrichOptions['userAgent']>> => {
  const { default: bowser } = await import('bowser').catch(missing('PARSE_USER_AGENT', 'bowser'));
  return (userAgent) => {
    const { browser, os, platform } = bowser.parse(userAgent);
    return {
      // What it does not know is an empty text, or not there.
      browser: browser.name || undefined,
      browser_version: browser.version || undefined,
      os: os.name,
      os_version: os.version,
      device: platform.type,
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
