using System.Diagnostics.Metrics;
using System.Text.RegularExpressions;
using ActOp.Storage;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;
using Orleans.TestingHost;

namespace ActOp.House.Tests;

/// <summary>The tables of docs/observability.md name what the meters publish.</summary>
public partial class MetricTableTests
{
    [Fact]
    public async Task The_tables_of_metrics_name_what_the_meters_publish()
    {
        var published = new HashSet<(string Meter, string Name)>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, _) =>
            {
                lock (published)
                    published.Add((instrument.Meter.Name, instrument.Name));
            },
        };
        listener.Start();
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo.AddMemoryGrainStorageAsDefault().UseInMemoryReminderService());
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        Assert.NotNull(cluster.Silos[0].ServiceProvider.GetRequiredService<StateDiagnostics>());
        var text = Repository.Text("docs/observability.md");
        string[] named = [.. Row().Matches(text).Select(static match => match.Groups[1].Value).Distinct()];
        lock (published)
        {
            Findings.None(published.Where(static one => one.Meter.StartsWith("ActOp.", StringComparison.Ordinal)
                || one.Meter == "Microsoft.Orleans").Select(static one => one.Name).Except(named));
            string[] ofOrleans = [.. published.Where(static one => one.Meter == "Microsoft.Orleans").Select(static one => one.Name)];
            Findings.None(named.Where(static name => name.StartsWith("orleans-", StringComparison.Ordinal)).Except(ofOrleans));
        }
    }

    [GeneratedRegex(@"^\| `((?:actop\.|orleans-)[\w.-]+)` \|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
