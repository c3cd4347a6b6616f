using System.Xml.Linq;

namespace ActOp.House.Tests;

/// <summary>Which project may reference which.</summary>
public class ReferenceArrowTests
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
        ["ActOp.Serialization.NewtonsoftJson"] = ["ActOp.Serialization"],
        ["ActOp.Serialization.FSharp"] = ["ActOp.Serialization"],
        ["ActOp.Serialization.TestKit"] = ["ActOp.Serialization"],
        ["ActOp.Runtime"] = ["ActOp.Abstractions", "ActOp.Serialization", "ActOp.Mesh", "ActOp.Partitioning", "ActOp.Staging"],
        ["ActOp.Testing"] =
            ["ActOp.Abstractions", "ActOp.Serialization", "ActOp.Mesh", "ActOp.Partitioning", "ActOp.Staging", "ActOp.Runtime"],
        ["ActOp.PostgreSql"] = ["ActOp.Runtime"],
        ["ActOp.Client"] = ["ActOp.Runtime"],
        ["ActOp.Server"] = ["ActOp.Client", "ActOp.Runtime"],
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

    [Fact]
    public void Generator_and_code_fixes_are_referenced_as_tools_only()
    {
        var loose = from path in Repository.Files("src", "*.csproj")
                    from reference in XDocument.Load(Path.Combine(Repository.Root, path)).Descendants("ProjectReference")
                    where Tools.Contains(Name(reference)) && (string?)reference.Attribute("ReferenceOutputAssembly") != "false"
                    select path;
        Findings.None(loose);
    }

    [Fact]
    public void The_solution_holds_every_project()
    {
        var solution = Repository.Text("ActOp.sln").Replace('\\', '/');
        string[] all = [.. new[] { "src", "samples", "bench", "tests" }.SelectMany(static folder => Repository.Files(folder, "*.csproj"))];
        Findings.None(all.Where(path => !solution.Contains($"\"{path}\"", StringComparison.Ordinal)));
    }

    private static IEnumerable<string> References(string path) =>
        XDocument.Load(Path.Combine(Repository.Root, path)).Descendants("ProjectReference").Select(Name);

    private static string Name(XElement reference) => Path.GetFileNameWithoutExtension((string)reference.Attribute("Include")!);
}
