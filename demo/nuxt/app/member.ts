/** Who has joined the club, by name. */
export const useMember = () => useState<string | undefined>('member');
