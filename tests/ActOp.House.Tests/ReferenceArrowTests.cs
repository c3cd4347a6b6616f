using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace ActOp.House.Tests;

/// <summary>Which project may reference which.</summary>
public partial class ReferenceArrowTests(ITestOutputHelper output)
{
    // Generator and code fixes are no arrows of the house: they are part of the build and of the editor, not of what runs.
    private static readonly string[] Tools = ["ActOp.Generators", "ActOp.CodeFixes"];

    private static readonly Dictionary<string, string[]> Allowed = new()
    {
        ["ActOp.Generators"] = [],
        ["ActOp.CodeFixes"] = [],
        ["ActOp.Abstractions"] = [],
        ["ActOp.Mesh"] = [],
        ["ActOp.Partitioning"] = [],
        ["ActOp.Staging"] = [],
        ["ActOp.Staging.Tracing"] = ["ActOp.Staging"],
        ["ActOp.Serialization"] = ["ActOp.Abstractions"],
        ["ActOp.Serialization.Fields"] = ["ActOp.Serialization"],
        ["ActOp.Serialization.NewtonsoftJson"] = ["ActOp.Serialization.Fields"],
        ["ActOp.Serialization.Protobuf"] = ["ActOp.Serialization.Fields"],
        ["ActOp.Serialization.FSharp"] = ["ActOp.Serialization.Fields"],
        ["ActOp.Serialization.TestKit"] = ["ActOp.Serialization.Fields"],
        // Fields: public signatures with the names of Orleans; a test looks that a silo does not load them.
        // Below all parts of a node: it knows none of them.
        ["ActOp.Foundation"] = ["ActOp.Abstractions", "ActOp.Staging"],
        ["ActOp.Runtime"] = ["ActOp.Foundation", "ActOp.Abstractions", "ActOp.Serialization", "ActOp.Serialization.Fields", "ActOp.Mesh", "ActOp.Partitioning",
            "ActOp.Staging"],
        // On top of the path of a call, and none of them on another.
        ["ActOp.Locality"] = ["ActOp.Runtime", "ActOp.Partitioning"],
        ["ActOp.Storage"] = ["ActOp.Runtime"],
        ["ActOp.Streams"] = ["ActOp.Runtime"],
        ["ActOp.Reminders"] = ["ActOp.Runtime"],
        ["ActOp.Management"] = ["ActOp.Runtime"],
        // The roof.
        ["ActOp.Hosting"] = ["ActOp.Runtime", "ActOp.Locality", "ActOp.Storage", "ActOp.Streams", "ActOp.Management"],
        ["ActOp.Testing"] = ["ActOp.Hosting", "ActOp.Reminders"],
        ["ActOp.PostgreSql"] = ["ActOp.Hosting", "ActOp.Reminders"],
        ["ActOp.Dashboard"] = ["ActOp.Hosting"],
        ["ActOp.Tool"] = ["ActOp.Hosting", "ActOp.PostgreSql"],
        ["ActOp.Client"] = ["ActOp.Hosting"],
        // Inside a silo of Microsoft Orleans: never on Abstractions, whose names are those of Orleans.
        ["ActOp.Orleans"] = ["ActOp.Partitioning", "ActOp.Staging"],
        ["ActOp.Server"] = ["ActOp.Client", "ActOp.Hosting", "ActOp.Reminders"],
    };

    public static TheoryData<string> Projects => [.. Repository.Files("src", "*.csproj")];

    [Theory]
    [MemberData(nameof(Projects))]
    public void A_project_references_only_what_the_design_lets_it(string path)
    {
        var project = Path.GetFileNameWithoutExtension(path);
        Assert.True(Allowed.ContainsKey(project), $"{project} has no place in the design: add its arrows here.");
        Findings.None(References(path).Except([.. Allowed[project], .. Tools]));
    }

    /// <summary>Tests, benchmarks and the simulator look into what they test.</summary>
    [Fact]
    public void Each_friend_of_an_assembly_is_listed_with_a_reason()
    {
        string[] projects = [.. Repository.Files("src", "*.csproj")];
        var all = (from path in projects
                   from friend in XDocument.Load(Path.Combine(Repository.Root, path)).Descendants("InternalsVisibleTo")
                   select (Of: Path.GetFileNameWithoutExtension(path), Name: (string)friend.Attribute("Include")!)).ToArray();
        var names = projects.Select(Path.GetFileNameWithoutExtension).ToHashSet();
        string[] friends = [.. all.Where(friend => names.Contains(friend.Name)).Select(static friend => friend.Of + "," + friend.Name)];
        output.WriteLine($"friends of assemblies of src: {friends.Length} in src, {all.Length - friends.Length} tests and benchmarks");
        Findings.AreListed(friends, "friends.txt");
    }

    [Fact]
    public void Generator_and_code_fixes_are_referenced_as_tools_only()
    {
        // One of them may use what the other reads: both are loaded from one folder.
        var loose = from path in Repository.Files("src", "*.csproj")
                    where !Tools.Contains(Path.GetFileNameWithoutExtension(path))
                    from reference in XDocument.Load(Path.Combine(Repository.Root, path)).Descendants("ProjectReference")
                    where Tools.Contains(Name(reference)) && (string?)reference.Attribute("ReferenceOutputAssembly") != "false"
                    select path;
        Findings.None(loose);
    }

    /// <summary>Those on packages of other runtimes stand outside: the solution must build where these cannot be restored.</summary>
    [Fact]
    public void The_solution_holds_every_project_but_those_on_other_runtimes()
    {
        string[] others = ["\"Microsoft.Orleans.", "\"Akka.", "\"Proto."];
        var solution = Repository.Text("ActOp.sln").Replace('\\', '/');
        string[] all = [.. new[] { "src", "samples", "bench", "tests" }.SelectMany(static folder => Repository.Files(folder, "*.csproj"))];
        Findings.None(all.Where(path => solution.Contains($"\"{path}\"", StringComparison.Ordinal)
            == others.Any(other => Repository.Text(path).Contains("PackageReference Include=" + other, StringComparison.Ordinal))));
    }

    [Fact]
    public void The_picture_of_the_projects_shows_the_references_of_their_files()
    {
        var picture = Arrow().Matches(Repository.Text("docs/architecture.md").Split("graph TD")[1].Split("```")[0]);
        Assert.NotEmpty(picture);
        var names = picture.SelectMany(static arrow => new[] { arrow.Groups["from"], arrow.Groups["to"] })
            .Zip(picture.SelectMany(static arrow => new[] { arrow.Groups["fromName"], arrow.Groups["toName"] }))
            .Where(static pair => pair.Second.Success)
            .ToDictionary(static pair => pair.First.Value, static pair => pair.Second.Value);
        string[] drawn = [.. picture.Select(arrow =>
            names[arrow.Groups["from"].Value] + (arrow.Groups["tool"].Success ? " uses " : " references ") + names[arrow.Groups["to"].Value])];
        string[] real = [.. from path in Repository.Files("src", "*.csproj")
                            from reference in References(path)
                            select Path.GetFileNameWithoutExtension(path) + (Tools.Contains(reference) ? " uses " : " references ") + reference];
        Findings.None(drawn.Except(real).Select(static arrow => "drawn only: " + arrow)
            .Concat(real.Except(drawn).Select(static arrow => "not drawn: " + arrow)));
    }

    [Fact]
    public void The_readme_lists_every_package()
    {
        var packages = Repository.Text("README.md").Split("## Packages")[1].Split("## ")[0];
        Findings.None(Repository.Files("src", "*.csproj")
            .Where(static path => Repository.Text(path).Contains("<IsPackable>true", StringComparison.Ordinal))
            .Select(Path.GetFileNameWithoutExtension)
            .Where(name => !packages.Contains("`" + name + "`", StringComparison.Ordinal))!);
    }

    [GeneratedRegex(@"(?<from>\w+)(\[(?<fromName>[\w.]+)\])? (-->|(?<tool>-\. tool \.->)) (?<to>\w+)(\[(?<toName>[\w.]+)\])?")]
    private static partial Regex Arrow();

    private static IEnumerable<string> References(string path) =>
        XDocument.Load(Path.Combine(Repository.Root, path)).Descendants("ProjectReference").Select(Name);

    private static string Name(XElement reference) => Path.GetFileNameWithoutExtension((string)reference.Attribute("Include")!);
}
