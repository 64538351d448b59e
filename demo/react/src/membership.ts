import { useOutletContext } from 'react-router';

/** What the pages share: who has joined the club, by name. */
export type Membership = [member: string | undefined, setMember: (member?: string) => void];

export const useMembership = () => useOutletContext<Membership>();
