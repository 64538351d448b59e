import type { Metadata } from 'next';
import { Account } from '../../components/Account.tsx';

export const metadata: Metadata = { title: 'Account' };

export default function AccountPage() {
  return <Account />;
}
