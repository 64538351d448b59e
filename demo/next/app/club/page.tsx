import type { Metadata } from 'next';
import { JoinForm } from '../../components/JoinForm.tsx';

export const metadata: Metadata = { title: 'Club' };

export default function Club() {
  return (
    <div className="card join">
      <div>
        <h1>Join the knitting club</h1>
        <p>A pattern each month, and first pick of what is newly dyed.</p>
      </div>
      <JoinForm />
    </div>
  );
}
