using System.Text.RegularExpressions;

namespace ActOp.House.Tests;

/// <summary>Which folders of a project need each other. A folder needs another one if a file in it has a using of its namespace.</summary>
/// <remarks>Folders <c>Orleans</c> are not counted: their names are given, and belong to all areas.</remarks>
public class FolderTests(ITestOutputHelper output)
{
    /// <summary>The list gets shorter: a pair that is gone must leave it.</summary>
    [Fact]
    public void Two_folders_need_each_other_only_where_the_list_says_why()
    {
        var needs = Needs();
        var pairs = needs.Where(one => string.CompareOrdinal(one.From, one.To) < 0 && needs.Contains((one.To, one.From)))
            .Select(static one => one.From + "," + one.To.Split('/')[1]).Order(StringComparer.Ordinal).ToArray();
        output.WriteLine($"pairs of folders that need each other: {pairs.Length}");
        Findings.AreListed(pairs, "folder-pairs.txt");
    }

    private static HashSet<(string From, string To)> Needs()
    {
        var needs = new HashSet<(string From, string To)>();
        foreach (var file in Repository.Sources("src"))
        {
            if (file.Folders.Length == 0 || file.Folders[0] == "Orleans")
                continue;
            var root = file.Project == "ActOp.Abstractions" ? "ActOp" : file.Project;
            foreach (Match match in Regex.Matches(file.Text, @"^using (?:static )?" + Regex.Escape(root) + @"\.(\w+)", RegexOptions.Multiline))
            {
                var (from, to) = (file.Project + "/" + file.Folders[0], file.Project + "/" + match.Groups[1].Value);
                if (from != to)
                    needs.Add((from, to));
            }
        }

        return needs;
    }
}
