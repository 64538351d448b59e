import { resolve } from 'node:path';
import type { NextConfig } from 'next';

const config: NextConfig = {
  // The paths of the interface end with a slash, and a tracker follows no redirects.
  skipTrailingSlashRedirect: true,
  // The folder of shared files is beside the app.
  turbopack: { root: resolve('..') },
};

export default config;
