/** A script that is measured: a library, or a floor. */
export interface Subject {
  readonly name: string;
  /** The file in `subjects/`. A subject without a file is clew's script tag as it ships. */
  readonly file?: string;
  /** The package whose version the results show. */
  readonly of?: string;
  /** Each option that differs from its default, and why. */
  readonly departures?: readonly [option: string, reason: string][];
}

const OFF = 'not a part of tracking an event';

export const subjects: readonly Subject[] = [
  { name: 'bare floor', file: 'bare' },
  { name: 'durable floor', file: 'durable' },
  { name: 'clew, script tag' },
  { name: 'clew, npm core', file: 'clew' },
  {
    name: 'Plausible',
    file: 'plausible',
    of: '@plausible-analytics/tracker',
    departures: [
      ['`autoCapturePageviews: false`', OFF],
      ['`captureOnLocalhost: true`', 'the page is on loopback'],
      ['values of the payload as text', 'its type asks for it'],
    ],
  },
  {
    name: 'Snowplow',
    file: 'snowplow',
    of: '@snowplow/browser-tracker',
    departures: [['`bufferSize: 50`', 'batches, which are off by default (`1`); the size is Mixpanel’s default']],
  },
  {
    name: 'Segment',
    file: 'segment',
    of: '@segment/analytics-next',
    departures: [
      ["`deliveryStrategy: { strategy: 'batching' }`", 'batches, which are off by default; size and wait are its own'],
      ['`cdnSettings` given', 'no remote settings, and no other destinations'],
      ['what it imports when needed is in the bundle', 'all are bundled alike, into one script'],
    ],
  },
  {
    name: 'PostHog',
    file: 'posthog',
    of: 'posthog-js',
    departures: [
      ['`module.slim`', 'the smaller build, without extensions'],
      ['`autocapture`, all `capture_…`: `false`', OFF],
      ['`advanced_disable_flags`, all `disable_…`: `true`', 'no flags, no remote configuration, no replay, no surveys'],
      ['`rate_limiting` raised', 'by default it drops what comes after the first 100 of a burst'],
    ],
  },
  {
    name: 'Amplitude',
    file: 'amplitude',
    of: '@amplitude/analytics-browser',
    departures: [
      ['`autocapture: false`', OFF],
      ['`fetchRemoteConfig: false`, `enableDiagnostics: false`', 'no remote configuration, no requests about itself'],
    ],
  },
  {
    name: 'RudderStack',
    file: 'rudderstack',
    of: '@rudderstack/analytics-js',
    departures: [
      ['`/lite`', 'the smaller build; the default one loads plugins from elsewhere'],
      ['`queueOptions: { batch: { enabled: true } }`', 'batches, which are off by default; size and wait are its own'],
      ['`getSourceConfig` given, `loadIntegration: false`', 'no remote configuration, and no other destinations'],
    ],
  },
  {
    name: 'Mixpanel',
    file: 'mixpanel',
    of: 'mixpanel-browser',
    departures: [['`loader-module-core`', 'the smaller build, without replay']],
  },
];
