'use client';

import { createContext, useContext } from 'react';

/** The state that the pages share: the name of the person who has joined the club. */
export type Membership = [member: string | undefined, setMember: (member?: string) => void];

export const MembershipContext = createContext<Membership>([undefined, () => {}]);

export const useMembership = () => useContext(MembershipContext);
