import { findFirefox } from '../faults/engines/firefox.ts';
import { hasWebKit } from '../faults/engines/webkit.ts';
import { findChromium } from './chromium.ts';

export interface Kind {
  isThere(): boolean;
  /** Names of Debian's packages. */
  packages: string[];
  /** Whether the tests can drive Playwright's own build. */
  hasOwn: boolean;
}

/** The browsers that the tests drive. */
export const kinds: Record<string, Kind> = {
  chromium: {
    isThere: () => findChromium() !== undefined,
    packages: ['chromium', 'fonts-dejavu-core'],
    hasOwn: true,
  },
  firefox: {
    isThere: () => findFirefox() !== undefined,
    packages: ['firefox-esr', 'fonts-dejavu-core'],
    hasOwn: true,
  },
  webkit: {
    isThere: hasWebKit,
    packages: ['webkit2gtk-driver', 'xvfb', 'python3-gi', 'gir1.2-webkit2-4.1', 'fonts-dejavu-core'],
    hasOwn: false,
  },
};

export const isMissing = (name: string): boolean => !kinds[name]?.isThere();

const reasonOf = (name: string): string => {
  if (kinds[name]?.hasOwn) return 'it could not be installed';
  return process.platform === 'linux'
    ? `it needs root and apt-get install ${kinds[name]?.packages.join(' ')}`
    : 'its driver, WebKitWebDriver of WebKitGTK, is for Linux';
};
/** The browsers that are missing, each with the reason. */
export const missingAmong = (names: readonly string[]): string[] =>
  names.filter(isMissing).map((name) => `${name} (${reasonOf(name)})`);

/**
 * Why a run without these browsers has to fail, if it has to. Every run needs Chromium. On CI, another missing browser would
 * hide a fault.
 */
export const refuse = (missing: readonly string[], isCi: boolean): string | undefined => {
  if (missing.some((name) => name.startsWith('chromium')))
    return 'No Chromium found and none could be installed. Install one and set CHROMIUM to its path.';
  return isCi && missing[0] ? `On CI no browser may be missing: ${missing.join(', ')}` : undefined;
};
