using System.Reflection;
using ActOp.House.Tests;
using Microsoft.CodeAnalysis;

namespace ActOp.Orleans.Tests;

/// <summary>
/// The list of the programming model (Lists/orleans-api.txt), which the assemblies of ActOp are compared with, against the real assemblies
/// of Orleans: what it has exists there, and what it has not is left out for a reason. Both exceptions are lists of their own.
/// </summary>
public class RealContractTests
{
    private static readonly Lazy<string[]> Paths = new(static () =>
        [.. Directory.GetFiles(AppContext.BaseDirectory, "Orleans.*.dll"), .. Downloaded()]);

    private static readonly Lazy<Dictionary<string, List<INamedTypeSymbol>>> Real = new(static () => Contract.TypesIn(Paths.Value));

    private static readonly ReasonedList Otherwise = new("orleans-api-otherwise.txt");
    private static readonly ReasonedList LeftOut = new("orleans-api-left-out.txt");

    [Fact]
    public void What_the_list_has_exists_in_Orleans() => Otherwise.AreListed(Contract.Lacking(Real.Value));

    [Fact]
    public void What_the_list_has_not_is_left_out_for_a_reason() => LeftOut.AreListed(
        Contract.Unlisted(Real.Value).Where(static line => !line.StartsWith("OrleansCodeGen.", StringComparison.Ordinal)));

    [Fact]
    public void Every_difference_stands_under_a_reason() => Findings.None(Otherwise.WithoutReason().Concat(LeftOut.WithoutReason()));

    [Fact]
    public void The_list_of_values_is_that_of_Orleans()
    {
        var real = ContractValues.Of(Real.Value, Paths.Value.Select(Assembly.LoadFrom)).Entries;
        if (Environment.GetEnvironmentVariable("ACTOP_UPDATE_API") == "1")
            ContractValues.Write(real);
        var listed = ContractValues.Listed();
        Findings.None(real.Except(listed).Select(static entry => "Is not listed: " + entry)
            .Concat(listed.Except(real).Select(static entry => "Is not so in Orleans: " + entry)));
    }

    /// <summary>Assemblies of packages that nothing here uses. Those that others bring are beside the tests already.</summary>
    private static IEnumerable<string> Downloaded()
    {
        var packages = typeof(RealContractTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(static one => one.Key == "Packages").Value!;
        return Directory.GetDirectories(packages, "microsoft.orleans.*")
            .Select(static package => Path.Combine(package, "10.4.2/lib/net10.0"))
            .Where(Directory.Exists)
            .SelectMany(static folder => Directory.GetFiles(folder, "Orleans.*.dll"))
            .Where(static path => !File.Exists(Path.Combine(AppContext.BaseDirectory, Path.GetFileName(path))));
    }
}
