/// The style sheet, for light and dark mode, and for phones, screens and paper.
enum ReportStyle {
    static let rules: StaticString = """
        :root { color-scheme: light dark; --page: #f2f2f7; --card: #ffffff; --text: #1c1c1e; --soft: #55555e;
          --line: #d9d9e0; --documents: #235de2; --caches: #f4b121; --temporary: #c975e5; --others: #4d5460;
          --others-purgeable: #808999; --free: #e9ebef; --moving: #11d9b8; --purged: #0f766e; --near-low: #e6c251; --low: #ce7801;
          --very-low: #a02720; --locked: #63aa28; --reboot: #7d215a; --red: #c81e1e; --amber: #b45309; --green: #15803d; }
        @media (prefers-color-scheme: dark) { :root { --page: #000000; --card: #1c1c1e; --text: #f2f2f7; --soft: #b3b3bd;
          --line: #3a3a3f; --documents: #579df4; --caches: #f79c22; --temporary: #f2d6ec; --others: #aeb3be;
          --others-purgeable: #525761; --free: #2a2a2e; --moving: #1f8675; --purged: #2dd4bf; --near-low: #534c34; --low: #cc7c0d;
          --very-low: #f4bdb8; --locked: #92dc3f; --reboot: #f9a8d4; --red: #ff7b72; --amber: #f5b041; --green: #57d38c; } }
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
        .purged { fill: var(--purged); } .reboot { fill: var(--reboot); } .refused { fill: var(--red); }
        .trial { display: inline-block; width: 0.75rem; height: 0.75rem; margin: 1px; border: 1px solid var(--line); border-radius: 2px;
          background: var(--card); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        .trial.held { background: var(--green); } .trial.failed { background: var(--red); } .trial.broken { background: var(--amber); }
        .near-low { fill: var(--near-low); } .low { fill: var(--low); } .very-low { fill: var(--very-low); } .locked { fill: var(--locked); }
        .pause { fill: var(--card); fill-opacity: 0.6; stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3;
          vector-effect: non-scaling-stroke; }
        .framed { position: relative; }
        .limit { position: absolute; left: 0; right: 0; border-top: 1px dashed var(--text); font-size: 0.7rem; line-height: 1.2; }
        .limit span { position: absolute; top: 1px; right: 0; padding: 0 0.25rem; background: var(--card); }
        .limit:nth-of-type(odd) span { right: auto; left: 0; }
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
        nav { display: flex; flex-wrap: wrap; gap: 0.35rem 1rem; align-items: center; margin-top: 0.75rem; }
        nav input { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--soft); border-radius: 0.4rem;
          padding: 0.2rem 0.5rem; margin-left: auto; min-width: 0; }
        a { color: inherit; } [hidden] { display: none !important; }
        .severity { font-size: 0.8rem; font-weight: 600; padding: 0 0.4rem; border: 1px solid var(--line); border-radius: 0.4rem; }
        .severity.error { color: var(--red); border-color: var(--red); }
        .severity.warning { color: var(--amber); border-color: var(--amber); }
        .story { list-style: none; margin: 0; padding: 0; }
        .story > li { display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: 0 0.75rem; padding: 0.25rem 0 0.25rem 0.75rem;
          border-left: 0.3rem solid var(--line); }
        .story > .bad { border-color: var(--red); } .story > .noted { border-color: var(--amber); }
        .story time { color: var(--soft); font-size: 0.9rem; }
        summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; }
        .glance { list-style: none; margin: 0; padding: 0; }
        .glance li { padding: 0.2rem 0 0.2rem 0.75rem; margin: 0.35rem 0; border-left: 0.3rem solid var(--line); }
        .glance .bad { border-color: var(--red); } .glance .noted { border-color: var(--amber); }
        .glance .good { border-color: var(--green); }
        .glance a { font-weight: 600; }
        .paths { margin: 0.25rem 0; padding-left: 1.25rem; }
        table { width: 100%; border-collapse: collapse; margin-top: 0.75rem; font-size: 0.9rem; }
        caption { text-align: left; color: var(--soft); padding-bottom: 0.25rem; }
        th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--line); }
        th { color: var(--soft); font-weight: 600; }
        .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        time { font-variant-numeric: tabular-nums; }
        @media (min-width: 44rem) { td:has(code) { min-width: 13rem; } }
        @media screen and (max-width: 44rem) {
          .story > li { grid-template-columns: minmax(0, 1fr); } nav input { margin-left: 0; flex: 1 1 100%; }
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
            --documents: #235de2; --caches: #f4b121; --temporary: #c975e5; --others: #4d5460; --others-purgeable: #808999;
            --free: #e9ebef; --moving: #11d9b8; --purged: #0f766e; --near-low: #e6c251; --low: #ce7801; --very-low: #a02720;
            --locked: #63aa28; --reboot: #7d215a; --red: #c81e1e; --amber: #b45309; --green: #15803d; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          header, section { border-radius: 0; padding: 0.5rem 0; }
          svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          nav, summary { display: none; } details::details-content { content-visibility: visible; display: block; }
          .chart, tr, dl div, li { break-inside: avoid; } h2, h3 { break-after: avoid; } thead { display: table-header-group; }
        }
        """
}
