namespace ActOp.House.Tests;

/// <summary>A change of what is public is a change of a file that someone looks at.</summary>
public class PublicApiTests
{
    internal const string Update = "ACTOP_UPDATE_API";

    public static TheoryData<string> Projects =>
        [.. Repository.Files("src", "*.csproj").Select(Path.GetFileNameWithoutExtension).OfType<string>()
            // ActOp.Orleans is checked by ActOp.Orleans.Tests.
            .Except(["ActOp.Generators", "ActOp.CodeFixes", "ActOp.Client", "ActOp.Server", "ActOp.Orleans"])];

    [Theory]
    [MemberData(nameof(Projects))]
    public void What_is_public_is_what_the_file_says(string project)
    {
        var actual = ApiText.Of(Path.Combine(AppContext.BaseDirectory, project + ".dll"));
        var path = $"src/{project}/PublicApi.txt";
        if (Environment.GetEnvironmentVariable(Update) == "1")
            File.WriteAllText(Path.Combine(Repository.Root, path), actual);
        Assert.True(Repository.Has(path), $"{path} is missing: run the tests with {Update}=1.");
        var expected = Repository.Text(path).Split('\n');
        var lines = actual.Split('\n');
        var change =
            string.Join('\n',
                [.. lines.Except(expected).Select(static line => "+ " + line), .. expected.Except(lines)
                    .Select(static line => "- " + line)]);
        Assert.True(lines.SequenceEqual(expected), $"{path} differs; when this is wanted, run the tests with {Update}=1:\n{change}");
    }
}
