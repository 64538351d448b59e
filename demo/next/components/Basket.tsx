'use client';

import { useAppTracker } from './tracker.ts';

export const Basket = ({ yarn, price }: { yarn: string; price: number }) => {
  const tracker = useAppTracker();
  return (
    <button type="button" className="primary" onClick={() => tracker.track('yarn added', { yarn, price })}>
      Add to basket
    </button>
  );
};
