import { css } from 'lit';

/** The rules of uPlot's own style sheet for the parts that are used here. */
export const plot = css`
  .uplot {
    inline-size: min-content;
  }
  .u-wrap {
    position: relative;
    user-select: none;
  }
  .u-over,
  .u-under,
  .u-axis {
    position: absolute;
  }
  .u-under {
    overflow: hidden;
  }
  .uplot canvas {
    display: block;
    position: relative;
    inline-size: 100%;
    block-size: 100%;
  }
  .u-select,
  .u-off {
    display: none;
  }
`;
