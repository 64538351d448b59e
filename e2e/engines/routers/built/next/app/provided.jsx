'use client';

import { createTracker } from 'clew';
import { ClewProvider, usePageViews } from 'clew/react';
import { usePathname } from 'next/navigation';
import { useEffect } from 'react';

const tracker = createTracker({ baseUrl: '/clew', flushInterval: 200 });

const Views = () => {
  usePageViews(usePathname());
  return null;
};

export const Provided = ({ children }) => {
  // The test needs `window.clew`, as the script tag sets it.
  useEffect(() => Object.assign(window, { clew: (method, ...args) => tracker[method](...args) }) && undefined, []);
  return (
    <ClewProvider tracker={tracker}>
      <Views />
      {children}
    </ClewProvider>
  );
};
