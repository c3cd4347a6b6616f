using System.CommandLine;
using ActOp.Harness.Reports;

namespace ActOp.Lab.Overlays;

/// <summary>overlay: HyParView and Plumtree in virtual time, with a share of the nodes crashed at once.</summary>
internal static class OverlayCommand
{
    public static Command Create()
    {
        Option<int> nodes = new("--nodes") { Description = "Nodes, 10 to 100,000.", DefaultValueFactory = static _ => 10_000 };
        Option<int> crashed = new("--crashed") { Description = "Percent of them that crash at once, 0 to 95.", DefaultValueFactory = static _ => 30 };
        Option<string> seeds = new("--seeds") { Description = "Seeds, as 1-10.", DefaultValueFactory = static _ => "1-3" };
        Option<FileInfo?> json = new("--json") { Description = "Write the results here." };
        Command command = new("overlay", "An overlay (HyParView) with a broadcast tree (Plumtree): forms, loses nodes, mends itself.")
        {
            nodes, crashed, seeds, json,
        };
        command.SetAction(result =>
        {
            var (count, share) = (result.GetValue(nodes), result.GetValue(crashed));
            (int First, int Last) range;
            try
            {
                if (count is < 10 or > 100_000 || share is < 0 or > 95)
                    throw new LabException("--nodes must be 10 to 100,000, --crashed 0 to 95.");
                range = LabOptions.ParseSeeds(result.GetValue(seeds)!);
            }
            catch (LabException exception)
            {
                result.InvocationConfiguration.Error.WriteLine(exception.Message);
                return 2;
            }

            var chosen = Enumerable.Range(range.First, range.Last - range.First + 1);
            OverlayReport[] reports = [.. chosen.AsParallel().AsOrdered().Select(seed => OverlayStudy.Play(count, share / 100.0, seed))];
            TextTable.Print(
                ["seed", "neighbours", "least", "membership messages per node and 10 s", "payloads / nodes", "hops", "reached", "at the crash", "repair, s", "connected",
                    "reached", "payloads / nodes", "asymmetric"],
                reports.Select(static one => (IReadOnlyList<string>)
                    [$"{one.Seed}", $"{one.Degree:F2}", $"{one.LeastDegree}", $"{one.MembershipPerPeriod:F1}", $"{one.PayloadsPerNode:F3}", $"{one.Hops}",
                        $"{one.ReachedAtRest:P2}", $"{one.ReachedAtCrash:P2}", one.Repair is { } repair ? $"{repair:F1}" : "-", $"{one.Connected:P2}",
                        $"{one.ReachedAfter:P2}", $"{one.PayloadsAfter:F3}", $"{one.Asymmetric}"]));
            if (result.GetValue(json) is { } file)
                ReportFile.WriteJson(file.FullName, reports);
            return 0;
        });
        return command;
    }
}
