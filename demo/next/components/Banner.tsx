'use client';

import { useState } from 'react';
import { useAppTracker } from './tracker.ts';

export const Banner = () => {
  const tracker = useAppTracker();
  const [isOpen, setOpen] = useState(true);
  const dismiss = () => {
    tracker.track('banner dismissed');
    setOpen(false);
  };
  return (
    <div>
      {isOpen && (
        <p className="banner">
          This week, shipping to all islands is free.
          <button type="button" className="plain" onClick={dismiss}>
            Dismiss
          </button>
        </p>
      )}
    </div>
  );
};
