import { resolve } from 'node:path';
import type { NextConfig } from 'next';

const config: NextConfig = {
  // The paths of the interface end with a slash, and a tracker follows no redirects.
  skipTrailingSlashRedirect: true,
  // What the apps share is beside them.
  turbopack: { root: resolve('..') },
};

export default config;
