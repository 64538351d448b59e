export const Ball = ({ colour, large = false }: { colour: string; large?: boolean }) => (
  <svg
    className={large ? 'ball large' : 'ball'}
    viewBox="4 6 58 54"
    fill="none"
    strokeLinecap="round"
    aria-hidden="true"
  >
    <circle cx="28" cy="30" r="22" fill={colour} />
    <g stroke="#fff" strokeOpacity="0.6" strokeWidth="2.4">
      <path d="M11 20c10-2 22 2 33 15M8 28c10-2 21 3 30 18M8 37c8-1 15 3 20 13M19 12c10 0 20 5 28 14" />
      <path d="M47 20c-6 2-11 6-15 11M42 13c-7 2-12 5-17 10" />
    </g>
    <path d="M36 51c6 6 14 7 24 5" stroke={colour} strokeWidth="4" />
  </svg>
);
