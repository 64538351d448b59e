import { Links } from '../links.jsx';
import { Provided } from '../provided.jsx';

export default function Layout({ children }) {
  return (
    <Provided>
      <Links base="next-react" />
      {children}
    </Provided>
  );
}
