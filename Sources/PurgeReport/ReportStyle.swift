/// The style sheet, for light and dark mode, and for phones, screens and paper.
enum ReportStyle {
    static let rules: StaticString = """
        :root { color-scheme: light dark; --page: #f2f2f7; --card: #ffffff; --text: #1c1c1e; --soft: #55555e;
          --line: #d9d9e0; --documents: #2563eb; --caches: #d97706; --temporary: #8b5cf6; --others: #5b6270;
          --others-purgeable: #8b93a1; --free: #e5e7eb; --moving: #0f766e; --locked: #4d7c0f; --reboot: #be185d; --red: #c81e1e; --amber: #b45309; --green: #15803d; }
        @media (prefers-color-scheme: dark) { :root { --page: #000000; --card: #1c1c1e; --text: #f2f2f7; --soft: #b3b3bd;
          --line: #3a3a3f; --documents: #5b9bff; --caches: #ffb454; --temporary: #c4a1ff; --others: #a3abba;
          --others-purgeable: #727b8b; --free: #3a3a3f; --moving: #2dd4bf; --locked: #a3d154; --reboot: #f9a8d4; --red: #ff7b72; --amber: #f5b041; --green: #57d38c; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; padding: 1rem; max-width: 64rem; background: var(--page); color: var(--text);
          font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
        header, section, .warning { background: var(--card); border-radius: 0.75rem; padding: 1rem; margin: 0 0 1rem;
          overflow-wrap: break-word; }
        h1 { font-size: 1.5rem; margin: 0 0 0.5rem; }
        h2 { font-size: 1.2rem; margin: 0 0 0.75rem; }
        h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
        p { margin: 0.25rem 0; }
        header p, .remark { color: var(--soft); }
        .remark { font-size: 0.9rem; margin-top: 0.5rem; }
        .warning { border-left: 0.4rem solid var(--amber); }
        code { font: 0.9em/1.4 ui-monospace, "Noto Sans Mono", Menlo, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
        svg { display: block; }
        .bar { width: 100%; height: 2rem; border-radius: 0.5rem; margin: 0.75rem 0; background: var(--free); }
        .swatch { width: 0.8rem; height: 0.8rem; flex: none; }
        .legend { list-style: none; padding: 0; margin: 0.5rem 0 0; display: flex; flex-wrap: wrap; gap: 0.35rem 1.25rem; }
        .legend li { display: flex; align-items: center; gap: 0.4rem; }
        .legend .more, .legend.small { color: var(--soft); font-size: 0.9rem; }
        .legend .amount { font-variant-numeric: tabular-nums; font-weight: 600; }
        .legend .amount, .legend .name, dd span:not(.exact) { white-space: nowrap; }
        dd .exact { color: var(--soft); font-size: 0.9rem; }
        .documents { fill: var(--documents); } .caches { fill: var(--caches); } .temporary { fill: var(--temporary); }
        .others { fill: var(--others); } .others-purgeable { fill: var(--others-purgeable); } .free { fill: var(--free); }
        .moving { fill: var(--moving); }
        .purged { fill: var(--moving); } .reboot { fill: var(--reboot); } .refused, .very-low { fill: var(--red); } .low { fill: var(--amber); }
        .near-low { fill: var(--others-purgeable); } .locked { fill: var(--locked); }
        .pause { fill: var(--card); fill-opacity: 0.6; stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3;
          vector-effect: non-scaling-stroke; }
        .low-line, .very-low-line { fill: none; stroke: var(--text); stroke-width: 1; stroke-dasharray: 6 4;
          vector-effect: non-scaling-stroke; }
        .level.low, .level.nearLow { color: var(--amber); } .level.veryLow { color: var(--red); }
        .level.normal { color: var(--green); }
        .chart { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); gap: 0.25rem 0.5rem; align-items: center; }
        .chart h3, .chart .times, .chart .words { grid-column: 2; }
        .chart h3 { margin: 0.5rem 0 0; }
        .chart .words { margin: 0; }
        .chart .empty { grid-column: 1 / -1; }
        .scale { display: flex; flex-direction: column; justify-content: space-between; align-self: stretch; text-align: right; }
        .scale, .lane-name, .times { color: var(--soft); font-size: 0.8rem; line-height: 1.1; }
        .lane-name { text-align: right; }
        .plot { width: 100%; height: 10rem; background: var(--page); border: 1px solid var(--line); }
        .lane { width: 100%; height: 1.1rem; background: var(--page); border: 1px solid var(--line); }
        .times { display: flex; justify-content: space-between; gap: 0.5rem; flex-wrap: wrap; }
        dl { margin: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 0 1.5rem; }
        dl div { display: flex; flex-wrap: wrap; gap: 0 1rem; border-bottom: 1px solid var(--line); padding: 0.3rem 0; }
        dt { color: var(--soft); } dd { margin: 0 0 0 auto; text-align: right; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
        .glance { list-style: none; margin: 0; padding: 0; }
        .glance li { padding: 0.2rem 0 0.2rem 0.75rem; margin: 0.35rem 0; border-left: 0.3rem solid var(--line); }
        .glance .bad { border-color: var(--red); } .glance .noted { border-color: var(--amber); }
        .glance .good { border-color: var(--green); }
        .glance a { color: inherit; font-weight: 600; }
        .paths { margin: 0.25rem 0; padding-left: 1.25rem; }
        table { width: 100%; border-collapse: collapse; margin-top: 0.75rem; font-size: 0.9rem; }
        caption { text-align: left; color: var(--soft); padding-bottom: 0.25rem; }
        th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--line); }
        th { color: var(--soft); font-weight: 600; }
        .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        time { font-variant-numeric: tabular-nums; }
        @media screen and (max-width: 44rem) {
          body { padding: 0.5rem; } .chart { grid-template-columns: 4rem minmax(0, 1fr); } .scale, .lane-name { font-size: 0.7rem; }
          .times span:nth-child(2), .times span:nth-child(3) { display: none; }
          table, caption, tbody, tr, td { display: block; } thead { position: absolute; width: 1px; height: 1px;
            overflow: hidden; clip-path: inset(50%); }
          tr { border-bottom: 1px solid var(--line); padding: 0.4rem 0; }
          td, td.number { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: 0.1rem 0;
            text-align: right; white-space: normal; }
          td::before { content: attr(data-label); color: var(--soft); text-align: left; flex: none; }
          td > span { min-width: 0; } td:has(> span:empty) { display: none; }
        }
        @media print {
          :root { color-scheme: light; --page: #ffffff; --card: #ffffff; --text: #000000; --soft: #444444; --line: #bbbbbb;
            --documents: #2563eb; --caches: #d97706; --temporary: #8b5cf6; --others: #5b6270; --others-purgeable: #8b93a1;
            --free: #e5e7eb; --moving: #0f766e; --locked: #4d7c0f; --reboot: #be185d; --red: #c81e1e; --amber: #b45309; --green: #15803d; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          header, section { border-radius: 0; padding: 0.5rem 0; }
          svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          .chart, tr, dl div, li { break-inside: avoid; } h2, h3 { break-after: avoid; } thead { display: table-header-group; }
        }
        """
}
