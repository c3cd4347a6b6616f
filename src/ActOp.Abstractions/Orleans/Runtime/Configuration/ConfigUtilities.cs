using System.Text.RegularExpressions;

namespace Orleans.Runtime.Configuration;

/// <summary>Texts of configurations for people.</summary>
public static partial class ConfigUtilities
{
    /// <summary>A connection string without its keys and passwords, for logs. Null and empty texts have none.</summary>
    public static string RedactConnectionStringInfo(string? connectionString) =>
        Redact(connectionString, "<--SNIP-->");

    /// <summary>The connection string with a text in place of each secret.</summary>
    internal static string Redact(string? connectionString, string replacement) =>
        connectionString is null ? "" : Secret().Replace(connectionString, match => match.Groups[1].Value + "=" + replacement);

    /// <summary>The value goes on to the next semicolon that a further key follows: values of keys end with signs of their own.</summary>
    [GeneratedRegex(
        @"(?i)(AccountKey|SharedAccessKey|SharedAccessSignature|AccessKey|Secret|SecretKey|Token|Password|Pwd)\s*=.*?(?=;\s*[\w ]+=|$)",
        RegexOptions.None, 1000)]
    private static partial Regex Secret();
}
