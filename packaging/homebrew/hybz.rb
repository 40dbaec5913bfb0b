# The formula for Homebrew. URL and sha256 are placeholders until there is a release. Not tried: no macOS here.
class Hybz < Formula
  desc "Parallel bzip2 that writes the same bytes, with indexes and parts of files"
  homepage "https://example.invalid/hybz"
  url "https://example.invalid/hybz/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    system "cargo", "install", *std_cargo_args(path: "crates/hysort")
    system "packaging/share.sh", prefix
    bin.install_symlink bin/"hybz" => "hybunz"
    bin.install_symlink bin/"hybz" => "hybcat"
  end

  test do
    (testpath/"text").write "to be or not to be\n" * 1000
    system bin/"hybz", "-k", "text"
    assert_equal (testpath/"text").read, shell_output("#{bin}/hybz -dc text.bz2")
  end
end
