/** The name of the person who has joined the club. */
export const useMember = () => useState<string | undefined>('member');
