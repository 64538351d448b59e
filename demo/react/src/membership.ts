import { useOutletContext } from 'react-router';

/** The name of the member who has joined the club, which all pages share. */
export type Membership = [member: string | undefined, setMember: (member?: string) => void];

export const useMembership = () => useOutletContext<Membership>();
