'use client';

import { createContext, useContext } from 'react';

/** What the pages share: who has joined the club, by name. */
export type Membership = [member: string | undefined, setMember: (member?: string) => void];

export const MembershipContext = createContext<Membership>([undefined, () => {}]);

export const useMembership = () => useContext(MembershipContext);
