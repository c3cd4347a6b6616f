namespace ActOp.House.Tests;

/// <summary>
/// A list of differences beside the tests, in blocks, each below its reason. A line that ends with * stands for all that begin so. With
/// ACTOP_UPDATE_API=1 it loses the lines that are no difference any more, and gets those that it has not, at the end: without a reason.
/// </summary>
internal sealed class ReasonedList(string name)
{
    private const string ToBeSorted = "to be sorted.";

    private readonly string _path = "tests/ActOp.House.Tests/Lists/" + name;

    /// <summary>Fails unless it has exactly these.</summary>
    internal void AreListed(IEnumerable<string> differences)
    {
        string[] found = [.. differences.Distinct().Order(StringComparer.Ordinal)];
        if (Environment.GetEnvironmentVariable("ACTOP_UPDATE_API") == "1")
            Update(found);
        string[] entries = [.. Lines().Where(IsEntry)];
        Findings.None(found.Where(one => !entries.Any(entry => Covers(entry, one))).Select(static one => "Is not listed: " + one)
            .Concat(entries.Where(entry => !found.Any(one => Covers(entry, one))).Select(static entry => "Is no difference: " + entry))
            .Concat(entries.GroupBy(static entry => entry).Where(static group => group.Count() > 1)
                .Select(static group => "Twice: " + group.Key)));
    }

    /// <summary>The lines that have no reason above them.</summary>
    internal IEnumerable<string> WithoutReason()
    {
        var reason = false;
        foreach (var line in Lines())
        {
            if (line.Length == 0)
                reason = false;
            else if (!IsEntry(line))
                reason = line.Contains(": ", StringComparison.Ordinal) && !line.EndsWith(ToBeSorted, StringComparison.Ordinal);
            else if (!reason)
                yield return line + " has no reason above it.";
        }
    }

    private void Update(string[] found)
    {
        string[] kept = [.. Lines().Where(line => !IsEntry(line) || found.Any(one => Covers(line, one)))];
        string[] added = [.. found.Where(one => !kept.Where(IsEntry).Any(entry => Covers(entry, one)))];
        var text = string.Join('\n', kept);
        File.WriteAllText(
            Path.Combine(Repository.Root, _path),
            added.Length == 0 ? text : text + "\n# Found by the update: " + ToBeSorted + "\n" + string.Join('\n', added) + "\n");
    }

    private string[] Lines() => Repository.Text(_path).Split('\n');

    private static bool IsEntry(string line) => line.Length > 0 && line[0] != '#';

    private static bool Covers(string entry, string one) =>
        entry[^1] == '*' ? one.StartsWith(entry[..^1], StringComparison.Ordinal) : entry == one;
}
